/** Images from words, and from other images. */

/** An image by its bytes (standard base64) or by its address. */
export type ImageSource = { data: string; mimeType: string } | { url: string };

/** A caller's request for images. */
export interface ImagesRequest {
  task: 'generate' | 'edit' | 'vary';
  /** '' for variations. */
  prompt: string;
  /** What is edited or varied, in order; [] otherwise. */
  sources: readonly ImageSource[];
  /** Where its pixels are transparent, the first source is to be changed. */
  mask?: ImageSource;
  count: number;
  size?: { width: number; height: number };
  /** How the images are to come; undefined: the caller takes either. */
  form?: 'bytes' | 'url';
  stream: boolean;
  /** What else the caller said, by the names of `/v1/images/generations`; what is the usual value of all vendors is left out. */
  options: Readonly<Record<string, unknown>>;
}

/** One image of an answer. `data` is standard base64. */
export interface GeneratedImage {
  data?: string;
  url?: string;
  mimeType?: string;
  /** What the upstream made of the prompt. */
  revisedPrompt?: string;
}

/** The images of an answer. */
export interface Images {
  /** Seconds since the epoch; absent: the upstream does not say. */
  createdAt?: number;
  images: readonly GeneratedImage[];
  /** Of the tokens, those of images; absent: the upstream does not tell them apart. */
  imageTokens?: { input: number; output: number };
}
