/** `switch-route` rules, which reroute a request to another model: evaluated on the caller's own bytes, before translation. */
import type { BodyRule } from '@model-gateway/contracts';
import { PathFinder, type PathQuestion } from '@model-gateway/json-bytes';
import { readPath } from './path.ts';
import { RuleError } from './rule-error.ts';

/** Throws RuleError. */
export function readQuestions({ when }: BodyRule): PathQuestion[] {
  if (!when || when.length === 0) throw new RuleError('when', 'must name at least one path');
  return when.map(({ path, equal }, index) => ({ path: readPath(path, `when.${index}.path`), ...(equal !== undefined && { equal }) }));
}

interface Owner {
  name: string;
  request_body_rules?: readonly BodyRule[] | undefined;
}

/** The rules of a route, those of its upstream first; null without any. */
export function switchesOf(upstream: Owner, model: Owner): Switches | null {
  const owned = ({ name, request_body_rules: rules = [] }: Owner, kind: string) =>
    rules.map((rule, index) => ({ rule, owner: `${kind}:${name}`, ofUpstream: kind === 'upstream', index })).filter(({ rule }) => rule.mode === 'switch-route');
  const rules = [...owned(upstream, 'upstream'), ...owned(model, 'model')];
  return rules.length > 0 ? new Switches(rules) : null;
}

/** One `switch-route` rule, and its position. */
export interface SwitchRule {
  owner: string;
  /** Its owner is an upstream, not a model. */
  ofUpstream: boolean;
  /** Position among the rules of its owner. */
  index: number;
  useModel: string;
}

export class Switches {
  readonly rules: readonly SwitchRule[];
  readonly #finder: PathFinder;
  /** For each question the position of its rule. */
  readonly #ruleOf: number[] = [];

  /** In the order in which they are asked. */
  constructor(rules: readonly (Omit<SwitchRule, 'useModel'> & { rule: BodyRule })[]) {
    const questions: PathQuestion[] = [];
    this.rules = rules.map(({ rule, ...position }, at) => {
      for (const question of readQuestions(rule)) {
        questions.push(question);
        this.#ruleOf.push(at);
      }
      return { ...position, useModel: rule.use_model ?? '' };
    });
    this.#finder = new PathFinder(questions);
  }

  /** The rules that hold for this body, in order. */
  holding(body: Uint8Array): SwitchRule[] {
    const found = this.#finder.search(body);
    const holding = new Set<SwitchRule>();
    for (const [question, answer] of found.entries()) {
      const rule = answer === 1 ? this.rules[this.#ruleOf[question] ?? -1] : undefined;
      if (rule) holding.add(rule);
    }
    return [...holding];
  }
}
