/**
 * Results of tools that a history holds twice. Gemini CLI writes each of them again when it resumes a session
 * (https://github.com/google-gemini/gemini-cli/issues/29365), and Gemini refuses a step with more results than calls.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';
import { listField, objectField, spelling } from './fields.ts';

/** Words of a body that may hold results. */
export const responseNames = ['functionResponse', 'function_response'] as const;

/** A call of the present step. */
interface OpenCall {
  id: string | undefined;
  name: string | undefined;
  answered: boolean;
}

/** Removes the results whose call has its result already, and contents that held nothing else. `prefix` leads to `request`. */
export function doubledResponseEdits(request: unknown, prefix: Edit['path'], losses: Losses): Edit[] {
  const key = spelling(request, 'contents');
  const contents = key === undefined ? undefined : asArray(own(request, key));
  if (key === undefined || !contents) return [];
  const edits: Edit[] = [];
  let calls: OpenCall[] = [];
  // SDKs keep a streamed turn as one content for each chunk: all calls of such a run are one step.
  let sameTurn = false;
  contents.forEach((content, at) => {
    const made = callsOf(content);
    if (made.length > 0 && !sameTurn) calls = [];
    for (const call of made) calls.push(call);
    sameTurn = made.length > 0 || (sameTurn && asString(own(content, 'role')) === 'model');
    const doubled = doubledPlaces(content, calls);
    if (doubled.length === 0) return;
    losses.dropped('contents.parts.functionResponse', 'a result whose call has its result already');
    const path = [...prefix, key, at];
    if (doubled.length === listField(content, 'parts').length) edits.push({ path, value: undefined });
    else for (const place of doubled) edits.push({ path: [...path, 'parts', place], value: undefined });
  });
  return edits;
}

function callsOf(content: unknown): OpenCall[] {
  return listField(content, 'parts').flatMap((part) => {
    const call = objectField(part, 'functionCall');
    return call ? [{ id: asString(own(call, 'id')), name: asString(own(call, 'name')), answered: false }] : [];
  });
}

/** Places of the parts that repeat a result. Notes which calls are answered. */
function doubledPlaces(content: unknown, calls: OpenCall[]): number[] {
  const places: number[] = [];
  listField(content, 'parts').forEach((part, place) => {
    const response = objectField(part, 'functionResponse');
    if (response && repeats(response, calls)) places.push(place);
  });
  return places;
}

/** Whether every call that the result can mean has one already; a result of no call of this step is left to the upstream. */
function repeats(response: JsonObject, calls: OpenCall[]): boolean {
  const id = asString(own(response, 'id'));
  const byId = id === undefined ? [] : calls.filter((call) => call.id === id);
  // By name where not both of them have an id.
  const meant = byId.length > 0 ? byId : calls.filter((call) => call.name === asString(own(response, 'name')) && (id === undefined || call.id === undefined));
  const open = meant.find(({ answered }) => !answered);
  if (open) open.answered = true;
  return !open && meant.length > 0;
}
