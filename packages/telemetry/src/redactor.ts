/** Masks secrets in text: those the process knows, and whatever looks like a credential. */

const mask = '[redacted]';
/** Below this a secret would match ordinary words and make logs unreadable. */
const shortestSecret = 6;

export interface Redactor {
  /** Makes `secret` unspeakable. Counted: two `add` need two `remove`. Secrets below 6 characters are not tracked. */
  add(secret: string): void;
  remove(secret: string): void;
  /** The text with known secrets and credential-like parts masked. */
  redact(text: string): string;
  /** Length of the longest tracked form: who cuts text must look this far beyond the cut. */
  readonly longest: number;
}

/** Forms that betray a credential without knowing it. Each is linear: no nested quantifiers. */
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

const pairOf = (text: string, at: number): number => ((text.charCodeAt(at) & 255) << 8) | (text.charCodeAt(at + 1) & 255);

/** Creates an empty redactor. Looking through a text costs a few ns a character however many secrets are known. */
export function createRedactor(): Redactor {
  const counts = new Map<string, number>();
  const byPair = new Map<number, string[]>();
  // A byte per first pair of characters keeps the usual "nothing here" at one array look-up.
  const startsWith = new Uint8Array(65536);
  let longest = 0;

  function maskKnown(text: string): string {
    let out = '';
    let copied = 0;
    for (let at = 0; at + shortestSecret <= text.length; at++) {
      const pair = pairOf(text, at);
      if (startsWith[pair] === 0) continue;
      const found = byPair.get(pair)?.find((form) => text.startsWith(form, at));
      if (found === undefined) continue;
      out += text.slice(copied, at) + mask;
      copied = at + found.length;
      at = copied - 1;
    }
    return copied === 0 ? text : out + text.slice(copied);
  }

  function track(form: string): void {
    const pair = pairOf(form, 0);
    const list = byPair.get(pair) ?? [];
    list.push(form);
    // Longest first, so that a secret that begins with another one is masked whole.
    list.sort((a, b) => b.length - a.length);
    byPair.set(pair, list);
    startsWith[pair] = 1;
    longest = Math.max(longest, form.length);
  }

  function forget(form: string): void {
    const pair = pairOf(form, 0);
    const list = (byPair.get(pair) ?? []).filter((one) => one !== form);
    if (list.length > 0) byPair.set(pair, list);
    else {
      byPair.delete(pair);
      startsWith[pair] = 0;
    }
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
    redact(text) {
      let out = counts.size === 0 ? text : maskKnown(text);
      if (out.length < 8) return out;
      for (const [pattern, replacement] of patterns) out = out.replace(pattern, replacement);
      return out;
    },
    get longest() {
      return longest;
    },
  };
}
