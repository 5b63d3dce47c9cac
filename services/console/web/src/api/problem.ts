/** An answer of the API that is not a success, as the pages show it. */
import i18next from 'i18next';
import { sayFault } from '../i18n/fault-texts.ts';

/** One field's fault: `field` is its path with dots. */
export interface FieldFault {
  field: string;
  message: string;
}

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly FieldFault[];
  /** Seconds after which trying again can help; null: it was not said. */
  retryAfter: number | null = null;
  /** Something on the way answered that the gateway is away. */
  isOfProxy = false;
  /** Of a script that failed, from 1; null: the fault has none. */
  line: number | null = null;
  constructor(status: number, code: string, message: string, details: readonly FieldFault[] = []) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Nothing came back at all. */
export const unreachable = (): ApiProblem => new ApiProblem(0, 'unreachable', i18next.t('fault.unreachable'));

/** Reads `{"error":{code,message,details?}}`; anything else (a proxy's page, an empty body) becomes a plain sentence. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error: { code?: string; message?: string; details?: FieldFault[]; line?: unknown } };
    const details = Array.isArray(error.details) ? error.details : [];
    const problem = new ApiProblem(response.status, error.code ?? 'unknown', sayMessage(error.message ?? response.statusText, details), sayDetails(details));
    if (typeof error.line === 'number') problem.line = error.line;
    const seconds = Number(response.headers.get('retry-after') ?? 'none');
    problem.retryAfter = Number.isFinite(seconds) ? seconds : null;
    return problem;
  } catch {
    const isPage = text === '' || /^\s*</.test(text);
    const problem = new ApiProblem(
      response.status,
      'unknown',
      isPage ? i18next.t('fault.elsewhere', { status: `HTTP ${response.status}` }) : text.slice(0, 300),
    );
    problem.isOfProxy = response.status >= 502;
    return problem;
  }
}

const sayDetails = (details: readonly FieldFault[]): FieldFault[] => details.map(({ field, message }) => ({ field, message: sayFault(message) }));

/** The message of a fault of fields is the first of them once more, and how many follow; that of an entry of a batch begins with its place. */
function sayMessage(message: string, [first]: readonly FieldFault[]): string {
  const repeated = first && `${first.field}: ${first.message}`;
  if (repeated !== undefined && message.startsWith(repeated))
    return `${first?.field}: ${sayFault(first?.message ?? '')}${sayFault(message.slice(repeated.length))}`;
  const [, place = '', sentence = message] = /^(entries\.\d+: )(.*)$/s.exec(message) ?? [];
  return place + sayFault(sentence);
}
