/** The rules of limits: what is allowed now. Everything is exact in whole numbers, and the clock is an argument. */
export { type Bucket, fillBucket, openBucket, settleTokens, takeTokens, tokensLeft, waitForTokens } from './bucket.ts';
export {
  type BudgetAsk,
  type BudgetState,
  budgetLevel,
  budgetLevels,
  chargeMoney,
  creditOf,
  learnSpent,
  openBudget,
  periodEnd,
  periodStart,
  type Reserved,
  reserveMoney,
  spendableMicros,
  toMicros,
} from './budget.ts';
export {
  capOf,
  type GateAsk,
  type GateLimits,
  type GateLook,
  type GateState,
  givePermits,
  lookAtGate,
  openGate,
  pollMs,
  shareOf,
  type Taken,
  takePermits,
  toGateLimits,
} from './gate.ts';
export { fitsWindow, type Hit, hitWindow, maxLogLength, openWindow, type WindowLimit, type WindowState } from './window.ts';
