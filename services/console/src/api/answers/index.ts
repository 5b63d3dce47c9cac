/** Answers of the API as types, for the pages: inferred from the schemas that describe them and that the tests hold them against. Nothing here runs. */
import type { z } from 'zod';
import type { auditRecord, ownAccount, sessionList } from './account.ts';
import type { alertMessagePage } from './alerts.ts';
import type { convertAnswer, historyDiff, historyPage } from './configuration.ts';
import type { deadLetterPage } from './dead-letters.ts';
import type { findAnswer } from './find.ts';
import type { healthAnswer, upstreamTest } from './health.ts';
import type { lookupAnswer } from './key-lookup.ts';
import type { keyUseAnswer } from './key-use.ts';
import type { myCosts, myGroups, myKeys, myRequests } from './members.ts';
import type { requestDetails, requestRow } from './request-row.ts';
import type { balancerNodes, explanation, fetchedModels, keyMonitor, limitStatus, modelOperations, modelTest, pin, ruleTest, scriptTest } from './routing.ts';
import type { ssoCredential, ssoLogin, ssoProfile } from './sso.ts';
import type { resourceState } from './state.ts';
import type { attentionAnswer, budgetList, spendAnswer, statsSeries, statsSessions, statsSummary, statsTop } from './statistics.ts';
import type { taskPage } from './tasks.ts';
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
/** One session with what it used. */
export type SessionItem = z.output<typeof statsSessions>['items'][number];
/** Whose a value is. */
export type FoundKey = z.output<typeof lookupAnswer>;
/** Where and when a key was used. */
export type KeyUse = z.output<typeof keyUseAnswer>;
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
/** One page of upstreams' tasks, newest first. */
export type TaskPage = z.output<typeof taskPage>;
export type TurnContent = z.output<typeof turnContent>;
/** Another gateway's configuration as a file of this one. */
export type ConvertedFile = z.output<typeof convertAnswer>;
/** One page of the commits, newest first. */
export type CommitPage = z.output<typeof historyPage>;
/** What lies between two revisions; the list may be cut, the total is not. */
export type HistoryDiff = z.output<typeof historyDiff>;
export type AuditRecord = z.output<typeof auditRecord>;
/** Who the credential stands for. */
export type OwnAccount = z.output<typeof ownAccount>;
export type Session = z.output<typeof sessionList>['items'][number];
/** Which upstream key each access key is bound to, or would be. */
export type KeyMonitor = z.output<typeof keyMonitor>;
/** How the entries of a load balancer stand, by each router. */
export type BalancerNodes = z.output<typeof balancerNodes>;
/** Where a request would go, and why. */
export type RouteExplanation = z.output<typeof explanation>;
export type Pin = z.output<typeof pin>;
/** How upstreams and their keys stand. */
export type Health = z.output<typeof healthAnswer>;
export type UpstreamTest = z.output<typeof upstreamTest>;
export type ResourceState = z.output<typeof resourceState>;
/** What an operator should look at now. */
export type Attention = z.output<typeof attentionAnswer>;
/** What a key, group, model or upstream cost lately. */
export type Spend = z.output<typeof spendAnswer>['items'][number];
export type BudgetStatus = z.output<typeof budgetList>['items'][number];
/** One thing that the palette found. */
export type Found = z.output<typeof findAnswer>['items'][number];
/** A credential that came by login; a login under way; a kind of login that is enabled. */
export type SsoCredential = z.output<typeof ssoCredential>;
export type SsoLogin = z.output<typeof ssoLogin>;
export type SsoProfile = z.output<typeof ssoProfile>;
/** Messages of the bus that were set aside. */
export type DeadLetterPage = z.output<typeof deadLetterPage>;
/** The messages of alerts, newest first. */
export type AlertMessages = z.output<typeof alertMessagePage>;
/** What a member sees of the own keys. */
export type MyGroups = z.output<typeof myGroups>;
export type MyKeys = z.output<typeof myKeys>;
export type MyRequests = z.output<typeof myRequests>;
export type MyCosts = z.output<typeof myCosts>;
