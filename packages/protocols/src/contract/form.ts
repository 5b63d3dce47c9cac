/** Requests that come as forms (multipart/form-data). */

/** A file that came as part of a form. */
export interface FormFile {
  /** Of the part. */
  name: string;
  filename: string;
  contentType?: string;
  content: Buffer;
}

/** A request that came as a form (multipart/form-data). */
export interface FormBody {
  /** Parts that are not files, in their order. */
  readonly fields: readonly { name: string; value: string }[];
  readonly files: readonly FormFile[];
}
