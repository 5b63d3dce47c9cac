/** What stood in a form when its session ended: kept in memory alone, for the same person to go on with. */

interface Draft {
  /** Whose words they are. */
  actor: string;
  values: unknown;
  /** What the form was filled with, before any of them was typed. */
  filled: unknown;
  /** Revision that they change. */
  etag: string | null;
}

const drafts = new Map<string, Draft>();

export const keepDraft = (form: string, draft: Draft): void => void drafts.set(form, draft);

/** Gives it once, and to nobody else; undefined: there is none. */
export function takeDraft(form: string, actor: string): Draft | undefined {
  const draft = drafts.get(form);
  drafts.delete(form);
  return draft?.actor === actor ? draft : undefined;
}

/** Somebody is signed in: what others wrote is nobody's any more. */
export function dropDraftsOfOthers(actor: string): void {
  for (const [form, draft] of drafts) if (draft.actor !== actor) drafts.delete(form);
}
