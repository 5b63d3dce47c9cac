/** Asks every live process of a kind at once, and names those that did not answer. */
import { randomBytes } from 'node:crypto';
import { type GatherTopic, type GatherTopics, gatherShapes, type Shape } from '@model-gateway/contracts';
import type { Bus, Disposable } from './bus.ts';
import { Clock } from './kit/clock.ts';

/** Answers of one process to gathered questions, by topic. */
export type GatherHandlers = { [T in GatherTopic]?: (request: GatherTopics[T]['request']) => GatherTopics[T]['answer'] | Promise<GatherTopics[T]['answer']> };

/** What a gathered question brought. */
export interface Gathered<T extends GatherTopic> {
  answers: { process: string; answer: GatherTopics[T]['answer'] }[];
  /** Live processes that did not answer in time. */
  missing: string[];
}

/** Asks all live processes of a kind. */
export interface Gatherer extends Disposable {
  /** Resolves when all live processes of the topic have answered, or after `waitMs`. Never rejects. */
  gather<T extends GatherTopic>(topic: T, request: GatherTopics[T]['request'], waitMs?: number): Promise<Gathered<T>>;
  /** Processes that have sent a heartbeat for the topic recently. While the bus is away those that were known last. */
  living(topic: GatherTopic): number;
  /** Resolves once every process that lives has had the time for a heartbeat, or after five seconds without a bus. */
  peersKnown(): Promise<void>;
}

const signMs = 2_000;
/** Silent for this long, a process counts as gone. */
const silenceMs = 7_000;
/** Every live process is known in this time: a heartbeat, and its way. */
const introductionMs = signMs + 500;
const maxIntroductionMs = 5_000;
/** Processes of one kind; announcements beyond this are ignored. */
const maxProcesses = 10_000;

const isShaped = (shape: Shape, value: unknown): boolean => shape.safeParse(value).success;

/** Answers gathered questions in this process's name, and sends heartbeats until it is disposed. A handler that throws answers nothing. */
export function serveGather(bus: Bus, process: string, handlers: GatherHandlers): Disposable {
  const topics = Object.keys(handlers) as GatherTopic[];
  const here = (present: GatherTopic[]) => bus.publish('gather.here', { process, topics: present });
  const listening = bus.listen('gather.ask', ({ id, topic, request }) => {
    const handler = Object.hasOwn(handlers, topic) ? (handlers[topic] as ((request: unknown) => unknown) | undefined) : undefined;
    if (!handler || !isShaped(gatherShapes[topic].request, request)) return;
    const answering = Promise.resolve().then(() => handler(request));
    answering.then(
      (answer) => bus.publish('gather.answer', { id, process, answer }),
      // A process that cannot answer is listed as missing by the asker.
      () => undefined,
    );
  });
  let left = false;
  here(topics);
  // An announcement made before the connection was up reached nobody.
  bus.onConnection((connected) => {
    if (connected && !left) here(topics);
  });
  const signs = setInterval(() => here(topics), signMs).unref();
  return {
    async dispose() {
      left = true;
      clearInterval(signs);
      // A process that shuts down in order is not listed as missing.
      if (bus.connected) here([]);
      await listening.dispose();
    },
  };
}

interface Question {
  topic: GatherTopic;
  /** Those known to live that have not answered; none known at first means that the time decides. */
  waiting: Set<string>;
  answers: { process: string; answer: unknown }[];
  done: () => void;
}

/** Counts the time in which heartbeats could come: this process was awake, and the bus there. Silence in any other time says nothing of others. */
class ListeningTime {
  /** In ms. */
  now = 0;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #last = 0;

  constructor(bus: Bus) {
    this.#clock = new Clock(() => {
      const awake = this.#clock.now;
      if (bus.connected) this.now += awake - this.#last;
      this.#last = awake;
      if (this.#isOver) for (const done of this.#waiting.splice(0)) done();
    });
  }

  get #isOver(): boolean {
    return this.now >= introductionMs || this.#last >= maxIntroductionMs;
  }

  /** Resolves after a heartbeat's time, or when that has not come for long. */
  peersKnown(): Promise<void> {
    return this.#isOver ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  stop(): void {
    this.#clock.stop();
    for (const done of this.#waiting.splice(0)) done();
  }
}

/** Starts listening for heartbeats and answers; a process is known once it has sent a heartbeat. */
export function createGatherer(bus: Bus, clock?: () => number): Gatherer {
  const listening = new ListeningTime(bus);
  const now = clock ?? (() => listening.now);
  /** When a process last spoke of a topic: one process may answer each of several in a service of its own. */
  const seen = new Map<string, Map<GatherTopic, number>>();
  const questions = new Map<string, Question>();
  const hearings = [
    bus.listen('gather.here', ({ process, topics }) => {
      if (topics.length === 0) seen.delete(process);
      else if (seen.has(process) || seen.size < maxProcesses) {
        const times = seen.get(process) ?? new Map<GatherTopic, number>();
        for (const topic of topics) times.set(topic, now());
        seen.set(process, times);
      }
    }),
    bus.listen('gather.answer', ({ id, process, answer }) => {
      const question = questions.get(id);
      // An answer of another shape counts as no answer.
      if (!question || question.answers.length >= maxProcesses || !isShaped(gatherShapes[question.topic].answer, answer)) return;
      question.answers.push({ process, answer });
      if (question.waiting.delete(process) && question.waiting.size === 0) question.done();
    }),
  ];
  const livingOf = (topic: GatherTopic): string[] => {
    for (const [process, times] of seen) {
      for (const [one, at] of times) if (now() - at > silenceMs) times.delete(one);
      if (times.size === 0) seen.delete(process);
    }
    return [...seen].filter(([, times]) => times.has(topic)).map(([process]) => process);
  };
  return {
    async gather<T extends GatherTopic>(topic: T, request: GatherTopics[T]['request'], waitMs = 500): Promise<Gathered<T>> {
      const id = randomBytes(12).toString('base64url');
      const waiting = new Set(livingOf(topic));
      const answers: Question['answers'] = [];
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, waitMs);
        questions.set(id, {
          topic,
          waiting,
          answers,
          done() {
            clearTimeout(late);
            resolve();
          },
        });
        bus.publish('gather.ask', { id, topic, request });
      });
      questions.delete(id);
      return { answers: answers as Gathered<T>['answers'], missing: [...waiting].sort() };
    },
    living: (topic) => livingOf(topic).length,
    peersKnown: () => listening.peersKnown(),
    async dispose() {
      listening.stop();
      await Promise.all(hearings.map((one) => one.dispose()));
    },
  };
}
