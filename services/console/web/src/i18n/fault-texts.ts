/** What the API says is wrong, in the reader's language: its English sentences are the keys of one table, in which `{{name}}` stands for what varies; `{{noun}}` is a key too. */

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
  return new RegExp(`^${escaped.map((part, at) => (at === 0 ? part : `(?<${names[at - 1]}>.*?)${part}`)).join('')}$`, 's');
}

export function sayFault(message: string): string {
  if (Object.hasOwn(fixed, message)) return fixed[message] ?? message;
  // Several may be said at once, such as each kind of what refers to a row.
  const parts = message.split(/(?<=\.) (?=[A-Z])/);
  const said = parts.length > 1 ? parts.map(sayFault) : [];
  if (said.length > 0 && said.every((part, at) => part !== parts[at])) return said.join('');
  for (const { pattern, text } of varying) {
    const groups = pattern.exec(message)?.groups;
    if (groups) return text.replaceAll(places, (place) => fillIn(place.slice(2, -2), groups) ?? place);
  }
  return message;
}

const fillIn = (name: string, groups: Readonly<Record<string, string>>): string | undefined => {
  const value = groups[name];
  return name === 'noun' && value !== undefined ? (fixed[value] ?? value) : value;
};
