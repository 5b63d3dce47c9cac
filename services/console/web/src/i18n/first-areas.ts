/** Areas of text that the sign-in and the overview show: they come with the first page, all others with the next. Read by the build as well. */
export const firstAreas: readonly string[] = ['common', 'session', 'overview', 'statistics'];
