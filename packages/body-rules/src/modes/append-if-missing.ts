/** `append-if-missing`: as `append`, unless the array that the condition names has an element for which it holds. */
import { conditionNeeds, readCondition, samePath } from '../condition.ts';
import type { Mode } from '../mode.ts';
import { findAll, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { readValue } from '../value.ts';
import { appendTo } from './append.ts';

export const appendIfMissing: Mode = {
  takes: ['path', 'value', 'condition'],
  compile(rule) {
    const { scope, holds } = readCondition(rule);
    const path = readTarget(rule.path ? rule : { ...rule, path: rule.condition?.scope });
    const value = readValue(rule.value);
    const own = samePath(scope, path);
    return (body, { facts }) => {
      const elsewhere = own ? [] : findAll(body, scope);
      if (elsewhere.some(({ value: array }) => Array.isArray(array) && array.some(holds))) return [];
      const next = value(facts);
      if (next === undefined) return [];
      return appendTo(body, path, next, (array) => !own || !array.some(holds));
    };
  },
  needs: (rule) => [{ path: pathOf(rule.path || rule.condition?.scope), depth: 'length' }, ...conditionNeeds(rule)],
};
