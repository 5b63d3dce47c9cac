/** Stored turns of Responses: `previous_response_id`, conversations, references to items, background runs, and the calls on them. */
import type { StoredTurns } from '../../../contract/index.ts';
import { conversation, conversationDeleted, conversationPrefix, readConversationUpdate, readNewConversation, readNewItems } from './conversations.ts';
import { expand, inputItems } from './expand.ts';
import { listedItem } from './items.ts';
import { list, page, readList, readResume } from './lists.ts';
import { ResponseObserver } from './observer.ts';
import { queued } from './response-object.ts';
import { keys, mayRefer, readWishes } from './wishes.ts';

export const turns: StoredTurns = {
  mayRefer,
  keys,
  readWishes,
  expand,
  inputItems,
  idPrefix: 'resp_',
  createObserver: (turn, reply) => new ResponseObserver(turn, reply),
  queued,
  calls: {
    readResume,
    readList,
    page,
    list,
    item: listedItem,
    deleted: (id) => ({ id, object: 'response.deleted', deleted: true }),
    conversationPrefix,
    readNewConversation,
    readConversationUpdate,
    readNewItems,
    conversation,
    conversationDeleted,
  },
};
