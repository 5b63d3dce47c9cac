/** Keyword search over the tools that a caller may call: BM25 over names and descriptions, with stems, and parts of snake_case and camelCase names. */
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import type { OfferedTool } from './offered.ts';

const maxQuery = 1000;
export const maxResults = 100;
export const defaultResults = 10;

/** Words of names and sentences. */
export const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const toTerm = (word: string): string => stemmer(word.toLowerCase());

export class ToolIndex {
  readonly #offered: readonly OfferedTool[];
  readonly #index: MiniSearch;

  constructor(offered: readonly OfferedTool[]) {
    this.#offered = offered;
    this.#index = new MiniSearch({
      fields: ['name', 'title', 'description', 'server', 'tags'],
      tokenize: wordsOf,
      processTerm: toTerm,
      searchOptions: { boost: { name: 3, title: 2, tags: 1.5 }, prefix: (term) => term.length > 2, fuzzy: (term) => (term.length > 5 ? 0.15 : false) },
    });
    this.#index.addAll(
      offered.map(({ server, tool }, id) => ({
        id,
        name: tool.name,
        title: tool.title,
        description: tool.description,
        server: server.name,
        tags: server.record.tags.join(' '),
      })),
    );
  }

  /** The best first; equal ones in the order of the list. */
  search(query: string, limit: number): OfferedTool[] {
    return this.#index
      .search(query.slice(0, maxQuery))
      .sort((a, b) => b.score - a.score || Number(a.id) - Number(b.id))
      .slice(0, limit)
      .map(({ id }) => this.#offered[Number(id)]!);
  }
}
