/** Losses of requests whose turns are not stored, or not there. */
import type { Loss } from '@model-gateway/contracts';

/** The same words whether it was never there, was not stored, or is another key's. */
export const unknownPrevious: Loss = {
  field: 'previous_response_id',
  action: 'dropped',
  detail: 'The turn is not stored here; only the input of this request was used.',
};

/** What is left of a history whose oldest turns have expired. */
export const historyCut: Loss = {
  field: 'previous_response_id',
  action: 'dropped',
  detail: 'Earlier turns are no longer stored: the history begins after them.',
};

export const notStored: Loss = { field: 'store', action: 'dropped', detail: 'The turn could not be stored: later requests cannot go on from it.' };

export const notAdded: Loss = { field: 'conversation', action: 'dropped', detail: 'Nothing is added to the conversation, since the turn is not stored.' };
