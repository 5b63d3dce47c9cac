/** Why translations lose something: a code for each reason, with its text in the languages of the console. An entry point of its own, so that services do not load the texts. */
import table from '../data/loss-reasons.json' with { type: 'json' };

/** Stable name of a reason; its texts may change. */
export type LossReasonCode = keyof typeof table;

export type LossReasonLanguage = 'en' | 'zh';

/** A reason that was recognised by its English text. */
export interface LossReason {
  code: LossReasonCode;
  /** The value inserted for `{value}`, such as a limit; null if the text has none. */
  value: string | null;
}

const placeholder = '{value}';
const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const codes = Object.keys(table) as LossReasonCode[];

/** The same sentence is declared with and without a capital letter and a full stop. */
const spell = (text: string): string => text.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());

const exact = new Map(codes.filter((code) => !table[code].en.includes(placeholder)).map((code) => [spell(table[code].en), code]));
/** Longer ones first: some begin like a shorter one. */
const patterns = codes
  .filter((code) => table[code].en.includes(placeholder))
  .sort((a, b) => table[b].en.length - table[a].en.length)
  .map((code) => ({ code, pattern: new RegExp(`^${spell(table[code].en).split(placeholder).map(escapePattern).join('(\\S+)')}$`) }));

/** The reason behind the `detail` of a loss; null for one that the table does not have, such as one of another version. */
export function findLossReason(detail: string): LossReason | null {
  const spelled = spell(detail);
  const code = exact.get(spelled);
  if (code !== undefined) return { code, value: null };
  for (const { code: candidate, pattern } of patterns) {
    const value = pattern.exec(spelled)?.[1];
    if (value !== undefined) return { code: candidate, value };
  }
  return null;
}

/** The `detail` of a loss in a language; as it is where the table does not have it. */
export function translateLossReason(detail: string, language: LossReasonLanguage): string {
  const reason = findLossReason(detail);
  return reason ? table[reason.code][language].replace(placeholder, () => reason.value ?? '') : detail;
}
