/** The context that a script gets: frozen facts, and the wish to go to another model. */

export class Wish {
  model: string | null = null;
}

/** Context objects inside one another are one level deep. */
export function makeContext(json: string, canSwitch: boolean, wish: Wish): object {
  const context = JSON.parse(json) as Record<string, unknown>;
  for (const value of Object.values(context)) Object.freeze(value);
  context['useModel'] = (name: unknown): void => {
    if (!canSwitch) throw new TypeError('useModel cannot be called in a response script');
    if (typeof name !== 'string' || name === '' || name.length > 200) throw new TypeError('useModel takes the name of a model');
    wish.model = name;
  };
  Object.freeze(context['useModel']);
  return Object.freeze(context);
}
