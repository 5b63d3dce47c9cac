/** Conditions on the elements of an array: all of `where` must hold for one of them. */
import type { BodyRule } from '@model-gateway/contracts';
import { jsonEqual, type Need } from '@model-gateway/json-bytes';
import { findAll, type Path, pathOf, readInnerPath, readPath } from './path.ts';
import { RuleError } from './rule-error.ts';

/** The condition of a rule, compiled: the array it looks at, and the test of one element. */
export interface Condition {
  /** The array whose elements are looked at. */
  scope: Path;
  holds(element: unknown): boolean;
}

/** The condition's `scope` names the array; where it has none, the rule's own path does. Throws RuleError. */
export function readCondition({ condition, path }: BodyRule): Condition {
  if (!condition) throw new RuleError('condition', 'is required');
  if (condition.where.length === 0) throw new RuleError('condition.where', 'must name at least one path');
  const scope = condition.scope ? readPath(condition.scope, 'condition.scope') : readPath(path ?? '', path ? 'path' : 'condition.scope');
  const where = condition.where.map(({ path: inner, equal }, index) => ({ path: readInnerPath(inner, `condition.where.${index}.path`), equal }));
  return { scope, holds: (element) => where.every(({ path: inner, equal }) => findAll(element, inner).some(({ value }) => jsonEqual(equal, value))) };
}

export const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((segment, at) => segment === b[at]);

/** The parts of a body that the condition of a compiled rule reads. */
export function conditionNeeds({ condition, path }: BodyRule): readonly Need[] {
  const scope = pathOf(condition?.scope || path);
  const where = condition?.where ?? [];
  return [
    { path: scope, depth: 'length' },
    ...where.map(({ path: inner, equal }): Need => ({ path: [...scope, '*', ...pathOf(inner)], depth: { like: equal } })),
  ];
}
