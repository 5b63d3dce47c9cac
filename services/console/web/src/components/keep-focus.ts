/** Keeps the focus near where it was when the focused element is removed or disabled: a browser would move it to the top of the page. */

/** The element that has the focus, or gets it back. When it is removed, it is replaced by the nearest element that remains. */
export interface FocusPlace {
  element: HTMLElement | null;
}

const movable = 'button:enabled:not([tabindex="-1"]), a[href]:not([tabindex="-1"])';

const current: FocusPlace = { element: null };
const places = new Set([current]);
/** Disabled while its request is running: it gets the focus back afterwards. */
let working: HTMLElement | null = null;

export const isFocusLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** From the element that has the focus now; `forget` when it is no longer of interest. */
export function followFocus(): FocusPlace {
  const { activeElement } = document;
  const place = { element: activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : null };
  places.add(place);
  return place;
}

export const forgetPlace = (place: FocusPlace): boolean => places.delete(place);

/** Called once, for the whole page. */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    current.element = target instanceof HTMLElement ? target : null;
    working = null;
  });
  // Who presses somewhere else means to leave.
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      if (target instanceof Node && current.element?.contains(target)) return;
      current.element = null;
      working = null;
    },
    { capture: true },
  );
  new MutationObserver(onChange).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}

function onChange(records: MutationRecord[]): void {
  const before = current.element;
  for (const place of places) if (place.element?.isConnected === false) place.element = successorOf(place.element, records);
  const { element } = current;
  if (element?.matches(':disabled')) switchedOff(element);
  else if (element !== before && isFocusLost()) moveTo(element);
  else if (working && isFocusLost()) moveTo(working);
}

function switchedOff(element: HTMLElement): void {
  if (!isFocusLost() && document.activeElement !== element) return;
  if (element.matches('[data-loading], [aria-busy="true"]')) working = element;
  else moveTo(nearest(element.parentElement, element));
}

const moveTo = (element: HTMLElement | null): void => element?.focus({ preventScroll: true });

/** The nearest focusable element after `element` was removed; null: its parents were removed as well, or nothing near takes the focus. */
function successorOf(element: HTMLElement, records: readonly MutationRecord[]): HTMLElement | null {
  let gone: Node = element;
  let before: Node | null = null;
  for (const { target, removedNodes, previousSibling } of records) {
    if (![...removedNodes].some((node) => node.contains(gone))) continue;
    gone = target;
    before = previousSibling;
  }
  if (gone === element || !gone.isConnected) return null;
  return nearest(gone instanceof Element ? gone : null, before);
}

/** The first focusable element after `before` in `parent`, else one in `before` or ahead of it, else one in the ancestors, up to the dialog or the page. A replaced page gets the focus as a whole. */
function nearest(parent: Element | null, before: Node | null): HTMLElement | null {
  const bounds = parent?.closest('[role="dialog"], main');
  if (!parent || !bounds) return null;
  if (parent === bounds && bounds.matches('main')) return bounds as HTMLElement;
  const found = [...parent.querySelectorAll<HTMLElement>(movable)].filter((one) => one !== before && one.checkVisibility());
  const follows = found.find(
    (one) =>
      !before ||
      (before.compareDocumentPosition(one) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) === Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const within = found.find((one) => before?.contains(one));
  return follows ?? within ?? found.at(-1) ?? (parent === bounds ? null : nearest(parent.parentElement, parent));
}
