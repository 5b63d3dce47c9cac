/** The interface that each mode of body rules implements. */
import type { BodyRule } from '@model-gateway/contracts';
import type { Edit, Need } from '@model-gateway/json-bytes';
import type { BodyLayout } from '@model-gateway/protocols';
import type { TemplateFacts } from './facts.ts';

/** What a rule may know about the request it changes. */
export interface RuleContext {
  facts: TemplateFacts;
  /** Where this body keeps messages, tools and system prompt; null: unknown, and rules that need it do nothing. */
  layout: BodyLayout | null;
}

/** A compiled rule: returns its edits for this body, and does not change the body itself. */
export type Change = (body: unknown, context: RuleContext) => Edit[];

/** Fields of a rule beside its mode. */
export type RuleField = Exclude<keyof BodyRule, 'mode'>;

/** One mode of body rules: its extra fields, its compiler, and what the compiled rule reads. */
export interface Mode {
  /** Names of the rule fields this mode accepts; any other is refused. */
  takes: readonly RuleField[];
  /** Throws RuleError naming the field at fault. */
  compile(rule: BodyRule): Change;
  /** The parts of a body this rule reads: on a projection of the body to these parts it returns the same edits. */
  needs(rule: BodyRule, layout: BodyLayout | null): readonly Need[];
  /** Whether it may move elements of an array to other places. */
  moves?(rule: BodyRule): boolean;
}
