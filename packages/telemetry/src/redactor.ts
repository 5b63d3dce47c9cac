/** Masks secrets in text: those the process knows, and whatever looks like a credential. */

const mask = '[redacted]';
/** Shorter secrets would match ordinary words and make logs unreadable. */
const shortestSecret = 6;

/** The set of live secrets of a process, and the masking of texts. */
export interface Redactor {
  /** Adds a secret to mask. Counted: two `add` need two `remove`. Secrets below 6 characters are not tracked. */
  add(secret: string): void;
  remove(secret: string): void;
  /** The text with known secrets and credential-like parts masked. */
  redact(text: string): string;
  /** The text with known secrets masked and nothing else. Needs no `this`. */
  redactKnown(text: string): string;
  /** Length of the longest tracked form: code that cuts text must redact this far beyond the cut. */
  readonly maxLength: number;
}

/** Patterns that identify a credential without knowing it. Each is linear: no nested quantifiers. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[^\s"',;\\]{4,}/gi, `$1 ${mask}`],
  [/((?:x-[a-z]+-)?(?:api-?key|auth-token)|authorization|cookie|password|secret)(["']?\s{0,8}[:=]\s{0,8}["']?)(?!Bearer|Basic)[^\s"',;&\\]+/gi, `$1$2${mask}`],
  [/([?&](?:key|api_key|apikey|token|access_token|signature|x-amz-signature)=)[^&\s"'#\\]+/gi, `$1${mask}`],
  [/\b(sk|gk|rk|pk)-[A-Za-z0-9_-]{6,}/g, `$1-${mask}`],
  [/\bAIza[A-Za-z0-9_-]{16,}/g, `AIza${mask}`],
  [/(:\/\/[^\s:/@]{0,128}:)[^\s/@]{1,256}@/g, `$1${mask}@`],
];

/** The secret as it may appear inside URLs and JSON text. */
function formsOf(secret: string): string[] {
  const forms = [secret];
  for (const form of [encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]) if (!forms.includes(form)) forms.push(form);
  return forms;
}

/** A number for the three characters before `end`: secrets share beginnings (`sk-proj-`), hardly ever endings. */
const endingAt = (text: string, end: number): number =>
  ((text.charCodeAt(end - 3) * 31 + text.charCodeAt(end - 2)) * 1009 + text.charCodeAt(end - 1)) & (filterSize - 1);
const filterSize = 65536;

/** Creates an empty redactor. Looking through a text costs some ns a character however many secrets are known. */
export function createRedactor(): Redactor {
  const counts = new Map<string, number>();
  const byEnding = new Map<string, string[]>();
  // How many forms fall on each number: the usual "nothing here" is one array look-up.
  const filter = new Uint32Array(filterSize);
  let maxLength = 0;

  const endingOf = (form: string): string => form.slice(-shortestSecret);

  /** Start of the longest known form that ends at `end`; -1 when none does. */
  function startOf(text: string, end: number): number {
    if (filter[endingAt(text, end)] === 0) return -1;
    const found = byEnding.get(text.slice(end - shortestSecret, end))?.find((form) => text.endsWith(form, end));
    return found === undefined ? -1 : end - found.length;
  }

  function maskKnown(text: string): string {
    const spans: [start: number, end: number][] = [];
    for (let end = shortestSecret; end <= text.length; end++) {
      let start = startOf(text, end);
      if (start < 0) continue;
      // Secrets may overlap: what they cover together is masked as one.
      for (let last = spans.at(-1); last !== undefined && last[1] > start; last = spans.at(-1)) {
        start = Math.min(start, last[0]);
        spans.pop();
      }
      spans.push([start, end]);
    }
    let out = '';
    let copied = 0;
    for (const [start, end] of spans) {
      out += text.slice(copied, start) + mask;
      copied = end;
    }
    return copied === 0 ? text : out + text.slice(copied);
  }

  function track(form: string): void {
    const list = byEnding.get(endingOf(form)) ?? [];
    list.push(form);
    // Longest first, so that a secret that ends with another one is masked whole.
    list.sort((a, b) => b.length - a.length);
    byEnding.set(endingOf(form), list);
    (filter[endingAt(form, form.length)] as number)++;
    maxLength = Math.max(maxLength, form.length);
  }

  function forget(form: string): void {
    const list = (byEnding.get(endingOf(form)) ?? []).filter((one) => one !== form);
    if (list.length > 0) byEnding.set(endingOf(form), list);
    else byEnding.delete(endingOf(form));
    (filter[endingAt(form, form.length)] as number)--;
  }

  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      const count = counts.get(secret) ?? 0;
      counts.set(secret, count + 1);
      if (count === 0) for (const form of formsOf(secret)) track(form);
    },
    remove(secret) {
      const count = counts.get(secret);
      if (count === undefined) return;
      if (count > 1) {
        counts.set(secret, count - 1);
        return;
      }
      counts.delete(secret);
      for (const form of formsOf(secret)) forget(form);
    },
    redactKnown: (text) => (counts.size === 0 ? text : maskKnown(text)),
    redact(text) {
      let out = counts.size === 0 ? text : maskKnown(text);
      if (out.length < 8) return out;
      for (const [pattern, replacement] of patterns) out = out.replace(pattern, replacement);
      return out;
    },
    get maxLength() {
      return maxLength;
    },
  };
}
