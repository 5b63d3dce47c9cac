/** `remove-matching`: removes the array elements for which the condition holds. */
import { conditionNeeds, readCondition, samePath } from '../condition.ts';
import type { Mode } from '../mode.ts';
import { findAll, readPath } from '../path.ts';
import { RuleError } from '../rule-error.ts';
import { readTarget } from '../targets.ts';
import { removeAt } from '../write.ts';

export const removeMatching: Mode = {
  takes: ['path', 'condition'],
  compile(rule) {
    const { scope, holds } = readCondition(rule);
    if (rule.path && !samePath(scope, readPath(rule.path, 'path')))
      throw new RuleError('condition.scope', 'names another array than path: leave one of them out');
    readTarget({ ...rule, path: scope.join('.') });
    return (body) =>
      findAll(body, scope).flatMap(({ place, value }) =>
        Array.isArray(value) ? value.flatMap((element, index) => (holds(element) ? [removeAt([...place, index])] : [])) : [],
      );
  },
  needs: conditionNeeds,
  moves: () => true,
};
