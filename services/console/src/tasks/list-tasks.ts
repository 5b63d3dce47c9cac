/** Tasks of upstreams as operators see them: what is sealed of each is opened, and whether somebody can still ask about it. */
import { sealedAs, type TaskFacts } from '@model-gateway/contracts';
import type { ListedTask, Storage, TaskQuery } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';

/** A task that can be read. */
export interface ShownTask {
  task: ListedTask;
  facts: TaskFacts;
  /** The upstream, its key or the model that took it is not configured any more. */
  accountGone: boolean;
}

/** Of tasks that are told apart by what is configured, so many are looked at for one page: the next one goes on after them. */
const maxLooked = 2_000;

/** One that cannot be opened, as after the loss of a master key, is left out. */
export async function readTasks(
  { accountGone, ...query }: TaskQuery & { accountGone?: boolean | undefined },
  { storage, keyring, logger }: Pick<ConsoleContext, 'storage' | 'keyring' | 'logger'>,
): Promise<{ items: ShownTask[]; nextCursor: string | null }> {
  const isGone = createAccountCheck(storage);
  const items: ShownTask[] = [];
  let { cursor } = query;
  for (let looked = 0; ; ) {
    const page = await storage.tasks.list({ ...query, cursor });
    for (const [at, task] of page.items.entries()) {
      cursor = task.cursor;
      const facts = openFacts(task, { keyring, logger });
      if (!facts) continue;
      const gone = await isGone(facts);
      if (accountGone !== undefined && gone !== accountGone) continue;
      items.push({ task, facts, accountGone: gone });
      if (items.length === query.limit) return { items, nextCursor: page.hasMore || at < page.items.length - 1 ? task.cursor : null };
    }
    looked += page.items.length;
    if (!page.hasMore) return { items, nextCursor: null };
    if (looked >= maxLooked) return { items, nextCursor: cursor ?? null };
  }
}

function openFacts({ owner, id, content }: ListedTask, { keyring, logger }: Pick<ConsoleContext, 'keyring' | 'logger'>): TaskFacts | undefined {
  try {
    return JSON.parse(keyring.open(content, sealedAs.task(owner, id))) as TaskFacts;
  } catch (error) {
    logger.warn({ task: id, error }, 'a task cannot be read: it is not shown');
    return undefined;
  }
}

/** As translators judge it; each upstream and each model is looked up once. */
function createAccountCheck({ catalog }: Storage): (facts: TaskFacts) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const check = async ({ model, upstream, account }: TaskFacts['at']): Promise<boolean> => {
    const [foundUpstream, foundModel] = await Promise.all([catalog.upstreams.find(upstream), catalog.models.find(model)]);
    if (!foundUpstream || !foundModel) return true;
    return account !== '' && !foundUpstream.document.api_keys.some(({ id }) => id === account);
  };
  return ({ at }) => {
    const name = JSON.stringify([at.model, at.upstream, at.account]);
    const gone = known.get(name) ?? check(at);
    known.set(name, gone);
    return gone;
  };
}
