/** What jest gives the suite that runs at the moment: `describe`, `test` and the others, by name. */
let current = {};

export const setSuite = (globals) => {
  current = globals;
};
export const ofSuite = (name) => current[name];
