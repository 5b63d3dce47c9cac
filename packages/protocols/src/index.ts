/** Every wire protocol as one value, and the canonical chat model between them. */
export * from './body-layout.ts';
export * from './chat/check-arguments.ts';
export * from './chat/conversation.ts';
export * from './chat/event.ts';
export * from './chat/fold.ts';
export * from './chat/unwrap-output.ts';
export * from './contract/index.ts';
export { type BodyQuestions, questionsOf } from './kit/body-questions.ts';
export { nameForCaller } from './kit/caller-fields.ts';
export { fitToModel } from './kit/fit-to-model.ts';
export { type OfferedTools, offerHostedTools } from './kit/hosted-tools.ts';
export { withoutOtherModels } from './kit/other-models.ts';
export { promptPrefix } from './kit/prompt-prefix.ts';
export { repairCalls } from './kit/repair-calls.ts';
export { readSignatureRefusal, type SignatureRefusal } from './kit/signature-refusal.ts';
export { bridgeTools, plainToolRules, runsItself, type ToolBridge } from './kit/tool-bridge.ts';
export { callBelow, modelNameEdits, modelNames, passedMethods, passedPaths, passedRules, splitModel } from './passthrough/index.ts';
export * from './registry.ts';
