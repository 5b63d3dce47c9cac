/** Types and constant tables that rooms share. No behaviour. */
export * from './entities/access-key.ts';
export * from './entities/key-group.ts';
export * from './entities/limits.ts';
export * from './entities/model.ts';
export * from './entities/name.ts';
export * from './entities/upstream.ts';
export * from './error-wire.ts';
export * from './frame.ts';
export * from './job.ts';
export * from './loss.ts';
export * from './messages/subjects.ts';
export * from './plan.ts';
export * from './protocol-id.ts';
export * from './row.ts';
export * from './sealing.ts';
export * from './snapshot.ts';
export * from './usage.ts';
