/** A strict reader of what a gamma caller receives: every rule that an SDK relies on, as sentences about what is broken. */

const finishWords = new Set([
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'OTHER',
  'IMAGE_SAFETY',
]);
const chunkKeys = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId', '_gateway_warning', 'promptFeedback', 'createTime']);
const contentKinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'];

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a finished stream; [] when nothing is. */
export function validateStream(text: string, form: 'sse' | 'json-array'): string[] {
  const faults: string[] = [];
  const chunks = form === 'sse' ? readEvents(text, faults) : readArray(text, faults);
  if (chunks.length === 0) faults.push('the stream holds no chunk');
  for (const [index, chunk] of chunks.entries()) validateChunk(chunk, index === chunks.length - 1, `chunk ${index}`, faults);
  if (new Set(chunks.map((chunk) => (isObject(chunk) ? chunk['responseId'] : null))).size > 1) faults.push('responseId changes');
  return faults;
}

/** What is wrong with a whole reply. */
export function validateWhole(body: unknown): string[] {
  const faults: string[] = [];
  validateChunk(body, true, 'body', faults);
  return faults;
}

function readEvents(text: string, faults: string[]): unknown[] {
  if (text !== '' && !text.endsWith('\n\n') && !text.endsWith('\r\n\r\n')) faults.push('the last event is not finished');
  return text.split(/\r?\n\r?\n/).flatMap((raw) => {
    // A bare line feed may stand between events: it keeps a line alive.
    const event = raw.replace(/^[\r\n]+/, '');
    if (event === '') return [];
    if (/^:[^\n]*$/.test(event)) return [];
    if (!event.startsWith('data: ') || event.includes('\n')) {
      faults.push(`not one data line: ${event.slice(0, 40)}`);
      return [];
    }
    return [parse(event.slice(6), faults)];
  });
}

function readArray(text: string, faults: string[]): unknown[] {
  const value = parse(text, faults);
  if (Array.isArray(value)) return value;
  faults.push('the body is no array');
  return [];
}

function parse(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    faults.push(`not JSON: ${text.slice(0, 60)}`);
    return {};
  }
}

function validateChunk(chunk: unknown, last: boolean, at: string, faults: string[]): void {
  if (!isObject(chunk)) return void faults.push(`${at} is not an object`);
  for (const key of Object.keys(chunk)) if (!chunkKeys.has(key)) faults.push(`${at} has the unknown key ${key}`);
  if (typeof chunk['modelVersion'] !== 'string') faults.push(`${at} has no modelVersion`);
  if (typeof chunk['responseId'] !== 'string') faults.push(`${at} has no responseId`);
  const candidates = chunk['candidates'];
  if (!Array.isArray(candidates) || candidates.length !== 1 || !isObject(candidates[0])) return void faults.push(`${at} does not hold one candidate`);
  validateCandidate(candidates[0], last, at, faults);
  if (chunk['usageMetadata'] !== undefined) validateUsage(chunk['usageMetadata'], at, faults);
  if (chunk['_gateway_warning'] !== undefined) validateWarning(chunk['_gateway_warning'], candidates[0], last, at, faults);
}

function validateCandidate(candidate: Json, last: boolean, at: string, faults: string[]): void {
  if (candidate['index'] !== 0) faults.push(`${at}: index is not 0`);
  const finish = candidate['finishReason'];
  if (last !== (finish !== undefined)) faults.push(`${at}: finishReason ${last ? 'is missing' : 'before the last chunk'}`);
  if (finish !== undefined && !finishWords.has(String(finish))) faults.push(`${at}: unknown finishReason ${String(finish)}`);
  const content = candidate['content'];
  if (!isObject(content) || content['role'] !== 'model') return void faults.push(`${at}: content has no role model`);
  const parts = content['parts'];
  if (parts === undefined && last) return;
  if (!Array.isArray(parts) || parts.length === 0) return void faults.push(`${at}: no parts`);
  for (const part of parts) validatePart(part, at, faults);
}

function validatePart(part: unknown, at: string, faults: string[]): void {
  if (!isObject(part)) return void faults.push(`${at}: a part is no object`);
  const kinds = contentKinds.filter((kind) => kind in part);
  if (kinds.length !== 1) faults.push(`${at}: a part holds ${kinds.length} kinds of content`);
  for (const key of Object.keys(part))
    if (!contentKinds.includes(key) && key !== 'thought' && key !== 'thoughtSignature') faults.push(`${at}: unknown part key ${key}`);
  if ('text' in part && typeof part['text'] !== 'string') faults.push(`${at}: text is no string`);
  if ('thought' in part && part['thought'] !== true) faults.push(`${at}: thought is not true`);
  const signature = part['thoughtSignature'];
  if (signature !== undefined && signature !== 'skip_thought_signature_validator') {
    if (typeof signature !== 'string' || !/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(signature))
      faults.push(`${at}: thoughtSignature is no standard base64`);
  }
  const call = part['functionCall'];
  if (call !== undefined) {
    if (!isObject(call) || typeof call['name'] !== 'string' || call['name'] === '') faults.push(`${at}: functionCall without a name`);
    else if (!isObject(call['args'])) faults.push(`${at}: args is no object`);
    else if ('id' in call && (typeof call['id'] !== 'string' || call['id'] === '')) faults.push(`${at}: an empty id`);
  }
}

function validateUsage(usage: unknown, at: string, faults: string[]): void {
  if (!isObject(usage)) return void faults.push(`${at}: usageMetadata is no object`);
  const count = (name: string): number => {
    const value = usage[name] ?? 0;
    if (!Number.isInteger(value) || (value as number) < 0) faults.push(`${at}: ${name} is no count`);
    return Number(value);
  };
  if (count('cachedContentTokenCount') > count('promptTokenCount')) faults.push(`${at}: more cached than prompt tokens`);
  if (count('promptTokenCount') + count('candidatesTokenCount') + count('thoughtsTokenCount') !== count('totalTokenCount'))
    faults.push(`${at}: totalTokenCount is not the sum`);
}

function validateWarning(warning: unknown, candidate: Json, last: boolean, at: string, faults: string[]): void {
  const keys = isObject(warning) ? Object.keys(warning).sort().join() : '';
  if (keys !== 'detail,last_finish_reason,reason,timestamp') faults.push(`${at}: _gateway_warning has the keys ${keys}`);
  if (!last) faults.push(`${at}: _gateway_warning before the last chunk`);
  if (candidate['finishReason'] !== 'MAX_TOKENS') faults.push(`${at}: a warning with a natural end`);
}
