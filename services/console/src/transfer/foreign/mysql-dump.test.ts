import { describe, expect, test } from '@jest/globals';
import { isMysqlDump, readMysqlDump } from './mysql-dump.ts';

const dump = `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS \`tokens\`;
CREATE TABLE \`tokens\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`key\` char(48) DEFAULT NULL COMMENT 'not a \`column\`',
  \`name\` varchar(191) DEFAULT NULL,
  \`unlimited_quota\` tinyint(1) DEFAULT '0',
  \`deleted_at\` datetime(3) DEFAULT NULL,
  PRIMARY KEY (\`id\`),
  KEY \`idx_tokens_name\` (\`name\`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4;
INSERT INTO \`tokens\` VALUES (1,'abc','it\\'s; a ''test'' \\\\ \\n(2,',1,NULL),
(2,_binary 'x',0x68c3a9,b'1','2026-01-01 00:00:00.000');
CREATE TABLE \`users\` (
  \`id\` bigint NOT NULL,
  \`name\` text
) ENGINE=InnoDB;
INSERT INTO \`users\` (\`id\`, \`name\`) VALUES (1,'INSERT INTO \`tokens\` VALUES (9,1,1,1,1);'),(2,'b');
INSERT INTO \`users\` (\`id\`, \`name\`) VALUES (-3,'c');
`;

describe('a dump of MySQL', () => {
  test('is known by its head, and no JSON or YAML is taken for one', () => {
    expect(isMysqlDump(dump)).toBe(true);
    for (const other of ['{"channels": []}', 'model_list:\n  - model_name: "`x`"\n', '']) expect(isMysqlDump(other)).toBe(false);
  });

  test('rows of wanted tables, with quotes, escapes, bytes and nothing; of others their number', () => {
    expect(readMysqlDump(dump, new Set(['tokens']))).toEqual({
      tokens: [
        { id: 1, key: 'abc', name: "it's; a 'test' \\ \n(2,", unlimited_quota: 1, deleted_at: null },
        { id: 2, key: 'x', name: 'hé', unlimited_quota: 1, deleted_at: '2026-01-01 00:00:00.000' },
      ],
      users: '3 rows',
    });
  });

  test('one that is cut anywhere inside its rows is refused, and nothing of it is quoted', () => {
    const begin = dump.indexOf("(1,'abc'");
    const end = dump.indexOf('CREATE TABLE `users`') - 2;
    for (let at = begin; at < end; at++) {
      const read = () => readMysqlDump(dump.slice(0, at), new Set(['tokens']));
      expect(read).toThrow(SyntaxError);
      expect(read).not.toThrow(/abc|test/);
    }
  });

  test('a row that does not fit its columns is refused', () => {
    expect(() => readMysqlDump('INSERT INTO `tokens` VALUES (1,2);', new Set(['tokens']))).toThrow('does not fit');
    expect(() => readMysqlDump('INSERT INTO `tokens` (`id`) VALUES (now());', new Set(['tokens']))).toThrow('cannot be read');
  });
});
