/** Answers of the API as types, for the pages: inferred from the schemas that describe them and that the tests hold them against. Nothing here runs. */
import type { z } from 'zod';
import type { lookupAnswer } from './key-lookup.ts';
import type { requestDetails, requestRow } from './request-row.ts';
import type { fetchedModels, limitStatus, modelOperations, modelTest, ruleTest, scriptTest } from './routing.ts';
import type { statsSeries, statsSummary, statsTop } from './statistics.ts';
import type { turnChain, turnContent } from './turns.ts';

export type { Figures } from './statistics.ts';

/** A row of the request log. */
export type LogRow = z.output<typeof requestRow>;
export type LogDetails = z.output<typeof requestDetails>;
export type Summary = z.output<typeof statsSummary>;
/** Figures over time; intervals without requests are left out. */
export type SeriesAnswer = z.output<typeof statsSeries>;
export type TopAnswer = z.output<typeof statsTop>;
export type TopItem = TopAnswer['items'][number];
/** Whose a value is. */
export type FoundKey = z.output<typeof lookupAnswer>;
/** The models that an upstream names. */
export type FetchedModels = z.output<typeof fetchedModels>;
/** The use of all limits. */
export type LimitStatus = z.output<typeof limitStatus>;
/** What a model can be asked for. */
export type ModelOperations = z.output<typeof modelOperations>;
export type ModelTest = z.output<typeof modelTest>;
/** The body after the rules, and which of them applied. */
export type RuleTest = z.output<typeof ruleTest>;
/** What a script made of the body, and what running it took. */
export type ScriptTest = z.output<typeof scriptTest>;
export type TurnChain = z.output<typeof turnChain>;
export type TurnContent = z.output<typeof turnContent>;
