/** What the API says is wrong with a field, in the reader's language: its English sentences are the keys of one table, in which `{{name}}` stands for what varies. */

export type FaultTexts = Readonly<Record<string, string>>;

const placeholder = /\{\{\w+\}\}/;
const places = new RegExp(placeholder, 'g');

let fixed: FaultTexts = {};
let varying: readonly { pattern: RegExp; text: string }[] = [];

/** Sentences that the table does not have stay as they are. */
export function setFaultTexts(texts: FaultTexts): void {
  fixed = texts;
  // The longest first: it says most.
  varying = Object.entries(texts)
    .filter(([sentence]) => placeholder.test(sentence))
    .sort(([one], [other]) => other.length - one.length)
    .map(([sentence, text]) => ({ pattern: patternOf(sentence), text }));
}

function patternOf(sentence: string): RegExp {
  const escaped = sentence.split(places).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const names = (sentence.match(places) ?? []).map((place) => place.slice(2, -2));
  return new RegExp(`^${escaped.map((part, at) => (at === 0 ? part : `(?<${names[at - 1]}>.*)${part}`)).join('')}$`, 's');
}

export function sayFault(message: string): string {
  if (Object.hasOwn(fixed, message)) return fixed[message] ?? message;
  for (const { pattern, text } of varying) {
    const groups = pattern.exec(message)?.groups;
    if (groups) return text.replaceAll(places, (place) => groups[place.slice(2, -2)] ?? place);
  }
  return message;
}
