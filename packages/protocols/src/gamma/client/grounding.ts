/** What a candidate says of the web: what was searched for, which pages were read, and which words lean on which page. */
import type { CitedPage } from '../../kit/cited-pages.ts';
import { asString, type JsonObject, own } from '../../kit/read.ts';

/** The text in which a page is cited, and its position in the reply. */
export interface CitedText {
  text: string;
  /** Bytes of UTF-8 before it, in a stream: there the text of all chunks is counted. */
  from: number;
  /** Number of its part, in a whole reply. */
  part: number;
}

export class Grounding {
  readonly #uris: string[] = [];
  readonly #chunks: unknown[] = [];
  readonly #supports: unknown[] = [];
  readonly #queries: string[] = [];
  readonly #read: unknown[] = [];

  /** Facts of the candidate. */
  get fields(): JsonObject {
    const metadata = {
      ...(this.#chunks.length > 0 && { groundingChunks: this.#chunks }),
      ...(this.#supports.length > 0 && { groundingSupports: this.#supports }),
      ...(this.#queries.length > 0 && { webSearchQueries: this.#queries }),
    };
    return {
      ...(Object.keys(metadata).length > 0 && { groundingMetadata: metadata }),
      ...(this.#read.length > 0 && { urlContextMetadata: { urlMetadata: this.#read } }),
    };
  }

  /** false: `value` names no search and no page that was read. */
  look(value: unknown): boolean {
    const [query, url] = [asString(own(value, 'query')), asString(own(value, 'retrievedUrl'))];
    if (query !== undefined) this.#queries.push(query);
    else if (url !== undefined) this.#read.push(value);
    return query !== undefined || url !== undefined;
  }

  /** Whether the words that lean on the page are known too. */
  cite({ url, title, range }: CitedPage, cited: CitedText | undefined): boolean {
    let at = this.#uris.indexOf(url);
    if (at < 0) {
      at = this.#uris.push(url) - 1;
      this.#chunks.push({ web: { uri: url, title } });
    }
    if (!cited || !range || range[1] > cited.text.length) return false;
    const text = cited.text.slice(...range);
    const startIndex = cited.from + Buffer.byteLength(cited.text.slice(0, range[0]));
    const segment = { ...(cited.part > 0 && { partIndex: cited.part }), startIndex, endIndex: startIndex + Buffer.byteLength(text), text };
    this.#supports.push({ segment, groundingChunkIndices: [at] });
    return true;
  }
}
