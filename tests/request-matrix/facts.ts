/**
 * What a request says, as marks that can be found again: each text, name, file and number of an ask is unlike every other. A fact that does not reach
 * the model must stand in the receipt, by a loss that names its field.
 */

let made = 0;

/** What a mark stands for, told by its own letters. Regular expressions: the fields by which its absence may be declared; null: it may never be lost. */
const kinds = {
  system: null,
  text: null,
  refusal: /refusal/,
  // A choice that leaves tools out is told as such.
  toolname: /^tools\.name|^tool_choice|^toolConfig/,
  tooldesc: /^tool_choice|^toolConfig/,
  param: /^tool_choice|^toolConfig/,
  arg: null,
  result: null,
  schema: /^(?:response_format|text\.format|output_config\.format|generationConfig\.responseMimeType)$/,
  image: /media|image|file|url|tool_result|input/,
  document: /media|document|file|url/,
  sound: /media|audio|video|input|parts/,
  filename: /filename|media|document|file|title/,
  title: /title|media|document/,
  context: /context|media|document/,
  user: /user|metadata|safety/,
  meta: /metadata|labels/,
  stop: /stop/,
  thought: /think|reason|signature|redacted|thought|encrypted_content/,
  signature: /signature|think|reason|thought|proof/,
  speaker: /name/,
  cachekey: /prompt_cache_key|cache/,
  tag: /service|session|store|unread|label|safety|prompt_cache/,
} as const satisfies Record<string, RegExp | null>;

export type Kind = keyof typeof kinds;

/** A mark of this kind: letters and digits, so that no wire writes it otherwise. */
export const mark = (kind: Kind): string => `cn${kind}${++made}x`;

/** Bytes of a file, in base64, that hold a mark. */
export function markedFile(head: string, kind: Kind): string {
  const text = `${head}${mark(kind)}`;
  return text.padEnd(Math.ceil(text.length / 4) * 4, 'A');
}
export const png = (): string => markedFile('iVBORw0KGgoA', 'image');
export const jpeg = (): string => markedFile('/9j/4AAQSkZJ', 'image');
export const pdf = (): string => markedFile('JVBERi0xLjQK', 'document');
export const sound = (): string => markedFile('UklGRiQAAABX', 'sound');

/** Numbers by their field in any protocol, and the losses by which one may be missing or another. */
const numbers: Readonly<Record<string, RegExp>> = {
  temperature: /temperature/,
  top_p: /top_?p/i,
  topP: /top_?p/i,
  top_k: /top_?k/i,
  topK: /top_?k/i,
  seed: /seed/,
  max_tokens: /max_|maxOutputTokens/,
  max_completion_tokens: /max_|maxOutputTokens/,
  max_output_tokens: /max_|maxOutputTokens/,
  maxOutputTokens: /max_|maxOutputTokens/,
  presence_penalty: /presence/i,
  presencePenalty: /presence/i,
  frequency_penalty: /frequency/i,
  frequencyPenalty: /frequency/i,
  top_logprobs: /logprobs/i,
  budget_tokens: /reason|think/,
  thinkingBudget: /reason|think/,
};

export interface Fact {
  /** What it is called in a failure. */
  name: string;
  isIn(body: string): boolean;
  lost: RegExp | null;
}

/** Every mark and number of an ask. */
export function factsOf(ask: unknown): Fact[] {
  const marks = [...new Set(JSON.stringify(ask).match(/cn[a-z]+\d+x/g) ?? [])].map((found): Fact => {
    const kind = found.slice(2).replace(/\d+x$/, '') as Kind;
    return { name: found, isIn: (body) => body.includes(found), lost: kinds[kind] };
  });
  return [...marks, ...numbersIn(ask)];
}

function numbersIn(value: unknown): Fact[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): Fact[] => {
    const lost = numbers[key];
    // No budget at all is said in words.
    if (typeof inner !== 'number' || inner === 0 || !lost) return numbersIn(inner);
    const written = new RegExp(`(?<![\\d.])${String(inner).replace('.', '\\.')}(?!\\d)`);
    return [{ name: `${key} ${inner}`, isIn: (body) => written.test(body), lost }];
  });
}

/** A body with what stands in base64 in it: some wires carry texts as bytes. */
export function readable(body: string): string {
  const files = body.match(/"[A-Za-z0-9+/]{8,}={0,2}"/g) ?? [];
  return body + files.map((file) => Buffer.from(file.slice(1, -1), 'base64').toString('latin1')).join('\n');
}
