/** Faults of an answer as a form takes them. */
import type { UseFormReturnType } from '@mantine/form';
import { ApiProblem } from '../api/problem.ts';

type Renamed = Readonly<Record<string, string>>;

/** Puts each fault at its field, and the keyboard to the first of them: the button that was pressed cannot hold it while it waits. */
export function showFaults<V>(form: UseFormReturnType<V>, error: Error, renamed?: Renamed): void {
  const faults = faultsByField(error, renamed);
  form.setErrors(faults);
  const [first] = Object.keys(faults);
  if (first !== undefined) setTimeout(() => form.getInputNode(first)?.focus());
}

/** By the first part of the field's path; `renamed` maps the API's field to the form's. */
function faultsByField(error: Error, renamed: Renamed = {}): Record<string, string> {
  if (!(error instanceof ApiProblem)) return {};
  return Object.fromEntries(
    error.details.map(({ field, message }) => {
      const [first = field] = field.split('.');
      return [renamed[first] ?? first, message];
    }),
  );
}
