/** The texts that expressions of the sources may give, for tests that look for each sentence of them. */
import ts from 'typescript';

/** What the constants of a file are set to, by name. */
export type Constants = ReadonlyMap<string, readonly ts.Expression[]>;

/** Texts that an expression may give; each inserted value is replaced by one word. Names are followed to the constants of their file. */
export function textsOf(node: ts.Node | undefined, constants: Constants): string[] {
  if (!node) return [];
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isTemplateExpression(node)) return [node.head.text + node.templateSpans.map(({ literal }) => `4096${literal.text}`).join('')];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap((branch) => textsOf(branch, constants));
  if (ts.isBinaryExpression(node)) return [node.left, node.right].flatMap((side) => textsOf(side, constants));
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression, constants);
  if (ts.isIdentifier(node)) return (constants.get(node.text) ?? []).flatMap((value) => textsOf(value, new Map()));
  return [];
}

/** Every constant and variable of the file that is set where it is declared. */
export function constantsOf(source: ts.SourceFile): Constants {
  const constants = new Map<string, ts.Expression[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, [...(constants.get(node.name.text) ?? []), node.initializer]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return constants;
}
