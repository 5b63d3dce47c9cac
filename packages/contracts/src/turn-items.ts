/** Items of a stored turn as the store sees them, whatever their protocol: objects with ids, in a list of their own or as the output of a response object. */
import { isObject } from './is-object.ts';

/** The items that a response object added to the conversation. */
export const outputOf = (response: unknown): unknown[] => (isObject(response) && Array.isArray(response['output']) ? (response['output'] as unknown[]) : []);

export const idOfItem = (item: unknown): string | undefined => (isObject(item) && typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : undefined);

export function idsOfItems(items: readonly unknown[]): string[] {
  const ids: string[] = [];
  for (const item of items) {
    const id = idOfItem(item);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}
