/**
 * Turns of the model that a history holds in several contents. Google's SDKs keep a streamed turn as one content for each chunk
 * (https://github.com/googleapis/python-genai/issues/1791), and Gemini refuses a call in a content that follows another one of the model.
 */
import type { Edit } from '@model-gateway/json-bytes';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';
import { listField, spelling } from './fields.ts';

/** A value of a request, and where it stands. */
export interface Placed {
  value: JsonObject;
  path: Edit['path'];
}

/** The edits of a request's contents, and those by which the contents of each such turn become one, with the same parts in the same order. */
export function joinSplitTurns(contents: readonly Placed[], edits: readonly Edit[]): Edit[] {
  const joined = turns(contents).flatMap((turn) => joinTurn(turn, edits) ?? []);
  return [...edits, ...joined];
}

/** Consecutive contents of the model, where a call stands behind the first one. */
function turns(contents: readonly Placed[]): Placed[][] {
  const runs: Placed[][] = [];
  let run: Placed[] = [];
  for (const content of contents) {
    if (asString(own(content.value, 'role')) !== 'model') run = [];
    else if (run.push(content) === 1) runs.push(run);
  }
  return runs.filter(([, ...later]) => later.some(holdsCall));
}

const isCall = (part: unknown): boolean => spelling(part, 'functionCall') !== undefined;
const holdsCall = ({ value }: Placed): boolean => listField(value, 'parts').some(isCall);

/** Moves all parts to the content with the first call, whose arguments keep their bytes; undefined: that would change what the others say. */
function joinTurn(turn: readonly Placed[], edits: readonly Edit[]): Edit[] | undefined {
  const at = turn.findIndex(holdsCall);
  const target = turn[at] as Placed;
  const kept = asArray(own(target.value, 'parts'));
  if (!kept) return undefined;
  const partsPath = [...target.path, 'parts'];
  const moved = (from: readonly Placed[], place: number): Edit[] =>
    from.flatMap((content) => partsOf(content, edits)).map((value) => ({ path: [...partsPath, place], value, insert: true }));
  const others = turn.filter((content) => content !== target);
  if (!others.every(({ value }) => survivesPrinting(value))) return undefined;
  return [...moved(turn.slice(0, at), 0), ...moved(turn.slice(at + 1), kept.length), ...others.map(({ path }): Edit => ({ path, value: undefined }))];
}

/** The parts of a content as `edits` leave them. */
function partsOf({ value, path }: Placed, edits: readonly Edit[]): unknown[] {
  const below = edits.filter((edit) => path.every((step, depth) => edit.path[depth] === step));
  const isList = asArray(value['parts']) !== undefined;
  return listField(value, 'parts').flatMap((part, place) => {
    const depth = path.length + (isList ? 2 : 1);
    const ofPart = below.filter((edit) => !isList || edit.path[path.length + 1] === place);
    return ofPart.reduce<unknown[]>(([changed], edit) => editedPart(changed as JsonObject, edit, depth), [part]);
  });
}

/** Edits of parts take the place of the whole part, or of one of its fields. */
function editedPart(part: JsonObject, { path, value }: Edit, depth: number): unknown[] {
  if (path.length === depth) return value === undefined ? [] : [value];
  const { [String(path[depth])]: _, ...rest } = part;
  return [value === undefined ? rest : { ...rest, [String(path[depth])]: value }];
}

/** Whether printing the value again keeps each number: whole ones beyond the precision of a double would become others. */
function survivesPrinting(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(survivesPrinting);
}
