export * from './header-rules.ts';
