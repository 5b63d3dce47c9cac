/** What a mode of body rules is. */
import type { BodyRule } from '@model-gateway/contracts';
import type { Edit, Need } from '@model-gateway/json-bytes';
import type { BodyLayout } from '@model-gateway/protocols';
import type { TemplateFacts } from './facts.ts';

/** What a rule may know of the request that it changes. */
export interface RuleContext {
  facts: TemplateFacts;
  /** Where the parts of this body stand; null: nobody knows, and rules that ask for them do nothing. */
  layout: BodyLayout | null;
}

/** A rule at work: the edits that it makes in this body, which it does not change itself. */
export type Change = (body: unknown, context: RuleContext) => Edit[];

/** Fields of a rule beside its mode. */
export type RuleField = Exclude<keyof BodyRule, 'mode'>;

export interface Mode {
  /** Fields that the mode reads; any other is refused. */
  takes: readonly RuleField[];
  /** Throws RuleError naming the field at fault. */
  compile(rule: BodyRule): Change;
  /** What a change of this rule looks at: of a body that was read no further it gives the same edits. */
  needs(rule: BodyRule, layout: BodyLayout | null): readonly Need[];
  /** Whether it may move elements of an array to other places. */
  moves?(rule: BodyRule): boolean;
}
