/** Every wire protocol as one value, and the canonical chat model between them. */
export * from './chat/conversation.ts';
export * from './chat/event.ts';
export * from './chat/fold.ts';
export * from './protocol.ts';
export * from './registry.ts';
