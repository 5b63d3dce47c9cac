/** `apply --watch`: a file is applied again whenever it changed. */
import { NoAnswerError } from './api-client.ts';

/** A file that may change at any time. */
export interface WatchedFile {
  /** Differs for each state of the file. */
  version(): string;
  apply(): Promise<void>;
  /** Between two looks at the file. */
  rest(): Promise<void>;
  /** For the person who reads the terminal. */
  report(text: string): void;
}

/**
 * Looks at the file's name, not at what it names now: editors and mounted configurations put another file in its place. What changes while a
 * version is applied is seen at the next look. Never resolves; rejects when the first application fails.
 */
export async function applyChanges({ version, apply, rest, report }: WatchedFile): Promise<never> {
  let seen = version();
  let isDue = false;
  let reported = '';
  await apply();
  for (;;) {
    await rest();
    const now = version();
    // Half of a file can be valid too: one that just changed is applied when it has not changed for one look.
    if (now !== seen) [seen, isDue, reported] = [now, true, ''];
    else if (isDue) {
      const fault = await faultOf(apply);
      // Nobody may touch the file again, and nothing is wrong with it.
      isDue = fault instanceof NoAnswerError;
      const text = isDue ? `${fault?.message}\nThe file is applied when the gateway answers.` : (fault?.message ?? '');
      if (fault && text !== reported) report(text);
      reported = text;
    }
  }
}

/** null: it was applied. */
async function faultOf(apply: () => Promise<void>): Promise<Error | null> {
  try {
    await apply();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
