/** What a client needs to know about the gateway, and the kinds of steps that configure it. */

export interface SetupFacts {
  /** Of the gateway, without a slash at the end and without a version segment. */
  baseUrl: string;
  key: string;
  /** Name that the client shall ask for. */
  model: string;
  /** The key may use tools of MCP servers: agents are given their address too. */
  tools?: boolean | undefined;
  /** What is known of the model's size, in tokens. */
  limits?: ModelLimits | undefined;
}

/** Size of a model in tokens: its context window, its longest prompt (most may fill the window), and its longest reply. */
export interface ModelLimits {
  context?: number | undefined;
  input?: number | undefined;
  output?: number | undefined;
}

/** How a client speaks to the gateway. */
export type Dialect = 'chat' | 'responses' | 'messages' | 'generate';

export type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value };
export type Values = { readonly [name: string]: Value };

/** A configuration file below the home folder; its values are merged into the existing content. */
export interface FileStep {
  kind: 'file';
  /** Begins with `~/`. */
  path: string;
  /** Another place of the same settings, which win in the client: where there is such a file, it is written in place of the first. */
  winner?: string;
  format: 'json' | 'toml' | 'yaml' | 'env';
  values: Values;
  /** Ways to the settings that are of one model alone: those that are not among the values were another model's, and are taken out. */
  ofModel?: readonly (readonly string[])[];
  /** Names of values that a file which has its own goes on with. */
  keeps?: readonly string[];
}

export type SetupStep =
  | FileStep
  | { kind: 'environment'; variables: Readonly<Record<string, string>> }
  | { kind: 'command'; text: string }
  | { kind: 'code'; language: 'typescript' | 'python'; install: string; text: string }
  /** What to type where in the client's own settings; labels as the client shows them. */
  | { kind: 'fields'; place: string; fields: readonly (readonly [label: string, value: string])[] };

/** One client of the table: how it is named, and the steps that configure it. */
export interface ClientSetup {
  id: string;
  name: string;
  group: 'sdk' | 'agent' | 'editor' | 'application' | 'shell';
  dialect: Dialect;
  steps: (facts: SetupFacts) => SetupStep[];
  /** A remark to show with the steps. */
  note?: { en: string; zh: string };
  /** The client repeats a turn by itself when its stream breaks: its key group should have `on_break: auto`. */
  retriesBrokenStreams?: true;
}
