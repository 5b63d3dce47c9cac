/** What the vendor's model families differ in, as far as a request must know: how thinking is asked for, and what a call must carry. */

export interface Family {
  /** `budget`: thinkingBudget in tokens; `level`: thinkingLevel; null: the family does not think and refuses thinkingConfig. */
  thinking: 'budget' | 'level' | null;
  /** Smallest budget; 0 where thinking can be switched off. */
  leastTokens: number;
  /** Largest budget. */
  mostTokens: number;
  levels: readonly ThinkingLevel[];
  /** Answers 400 when the first call of a step comes back without its proof (wire.md §4). */
  needsCallSignature: boolean;
  /** Takes images and files inside functionResponse. */
  mediaInResults: boolean;
  /** Takes functions beside a JSON answer; the others answer 400. */
  formatBesideTools: boolean;
}

export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

const two = { levels: [], needsCallSignature: false, mediaInResults: false, formatBesideTools: false } as const;
const three = { thinking: 'level', leastTokens: 0, mostTokens: 32_768, needsCallSignature: true, mediaInResults: true, formatBesideTools: true } as const;

/** First match wins. `-latest` names stand for the newest generation. */
const families: readonly { match: RegExp; family: Family }[] = [
  { match: /gemini-(?:1|2\.0)\b|gemma|learnlm/, family: { ...two, thinking: null, leastTokens: 0, mostTokens: 0 } },
  { match: /gemini-2\.5-(?:flash|pro)(?:-preview)?-(?:image|tts)|gemini-2\.5-flash-native/, family: { ...two, thinking: null, leastTokens: 0, mostTokens: 0 } },
  { match: /gemini-2\.5-pro/, family: { ...two, thinking: 'budget', leastTokens: 128, mostTokens: 32_768 } },
  { match: /gemini-2\./, family: { ...two, thinking: 'budget', leastTokens: 0, mostTokens: 24_576 } },
  { match: /gemini-3(?:\.0)?-pro/, family: { ...three, levels: ['LOW', 'HIGH'] } },
  { match: /gemini-(?:[3-9]|[1-9]\d)(?:\.\d+)?-pro|gemini-pro-latest/, family: { ...three, levels: ['LOW', 'MEDIUM', 'HIGH'] } },
  {
    match: /gemini-(?:[3-9]|[1-9]\d)(?:\.\d+)?|gemini-flash(?:-lite)?-latest/,
    family: { ...three, levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] },
  },
];

/** A name we do not know: budgets are understood by every thinking generation, and nothing else is assumed. */
const unknownFamily: Family = { ...two, thinking: 'budget', leastTokens: 0, mostTokens: 24_576, formatBesideTools: true };

export const findFamily = (modelId: string): Family => families.find(({ match }) => match.test(modelId.toLowerCase()))?.family ?? unknownFamily;
