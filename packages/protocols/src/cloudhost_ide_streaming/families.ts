/** What a model takes beside the conversation, by its id here; new models are lines here. */
export interface ModelFamily {
  /** Takes `additionalModelRequestFields`: effort, thinking and a limit. */
  takesFields: boolean;
  highestEffort: 'max' | 'xhigh' | 'high';
  /** Refuses earlier reasoning without its proof. */
  checksProofs: boolean;
}

const plain: ModelFamily = { takesFields: false, highestEffort: 'high', checksProofs: false };

/** First match wins. The fields are those of the service's own list of models. */
const families: readonly (readonly [RegExp, ModelFamily])[] = [
  [/^claude-\w+-4\.(?:[7-9]|\d\d)|^claude-\w+-[5-9]/, { takesFields: true, highestEffort: 'max', checksProofs: true }],
  [/^claude-(?:opus|sonnet)-4\.6/, { takesFields: true, highestEffort: 'max', checksProofs: true }],
  [/^claude|^auto$/, { ...plain, checksProofs: true }],
];

export const findFamily = (upstreamModelId: string): ModelFamily => families.find(([pattern]) => pattern.test(upstreamModelId.toLowerCase()))?.[1] ?? plain;

/** Whether the model knows the word between `high` and `max`. */
export const knowsXhigh = (upstreamModelId: string): boolean => /^claude-\w+-(?:4\.(?:[7-9]|\d\d)|[5-9])/.test(upstreamModelId.toLowerCase());
