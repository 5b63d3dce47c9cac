/** What rules know of a request's body on one wire. */
import type { Edit, Need } from '@model-gateway/json-bytes';

/** A choice of tools that is void once its tools are gone: taken out, or, where it is a list, freed of them. */
export interface ToolChoicePlace {
  path: string;
  /** The tools that the choice, or one element of a list, names. */
  namesOf(choice: unknown): readonly string[];
  /** How many levels above a list go with its last element; absent: the list alone. */
  above?: number;
}

/** Where the parts of a request's body stand on this wire, for rules that change it. Paths are those of rules: dotted, `*` for each member. */
export interface BodyLayout {
  /** Top-level keys that a token count takes too; absent: its body has another shape. */
  counted?: readonly string[];
  /** Arrays of content blocks, those inside blocks after those that hold them. */
  content: readonly string[];
  /** What a block is called: its type on this wire, and the kind of file it is (`image`, `audio`, `video`, `document`). */
  kindsOf(block: unknown): readonly string[];
  /** A block of text for an array at one of the places of `content`; null where none may stand. */
  textBlock(text: string, place: string): unknown;
  /** Where no block of text may stand: the key beside the array that holds the words that go with it. Absent: none does. */
  wordsBeside?(place: string): string | null;
  tools: {
    /** Arrays of tools, those inside others first. */
    places: readonly string[];
    /** What a tool may be meant by: its name, or the type of one that the vendor runs. */
    namesOf(tool: unknown): readonly string[];
    choices: readonly ToolChoicePlace[];
    /** What may not stand without tools. */
    meaningless: readonly string[];
  };
  /** What `injectSystem` looks at. */
  systemNeeds: readonly Need[];
  /** Puts text before the system text of the body, at the place that this wire has for it. Paths are those of the body as it is. */
  injectSystem(body: unknown, text: string): Edit[];
}
