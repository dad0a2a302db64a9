import { expect, test } from "bun:test";
import { num, port, str } from "envalid";
import { ConfigError, positiveInteger, positiveNumber, readConfig } from "../src/config.ts";

test("every missing and wrong variable is named at once, with what it is for", () => {
  const specs = {
    DATABASE_URL: str({ desc: "postgres:// address" }),
    PORT: port({ desc: "to listen on" }),
    POOL: num({ default: 10 }),
    MODE: str({ choices: ["fast", "safe"] }),
    EMPTY: str(),
    FINE: str(),
  };
  const env = { PORT: "http", POOL: "many", MODE: "odd", EMPTY: "", FINE: "x" };
  expect(() => readConfig(env, specs)).toThrow(
    new ConfigError(
      [
        "The environment is not right:",
        "  DATABASE_URL (postgres:// address): is missing",
        '  PORT (to listen on): Invalid port input: "http"',
        '  POOL: Invalid number input: "many"',
        '  MODE: Value "odd" not in choices [fast,safe]',
        "  EMPTY: is missing",
      ].join("\n"),
    ),
  );
});

test("an absent or empty variable takes its default, a given one is parsed, others are not read", () => {
  const specs = { POOL: num({ default: 10 }), NAME: str({ default: "x" }), MINUTES: positiveNumber({ default: 30 }) };
  expect(readConfig({ NAME: "", MINUTES: "0.5", OTHER: "y" }, specs)).toEqual({ POOL: 10, NAME: "x", MINUTES: 0.5 });
});

test.each(["0", "-1", "Infinity", "NaN", "a"])("%j is not a positive number", (text) => {
  expect(() => readConfig({ N: text }, { N: positiveNumber() })).toThrow(`N: must be a number above 0, not "${text}"`);
});

test.each(["0", "-1", "1.5", "9007199254740993", "a"])("%j is not a positive whole number", (text) => {
  const read = () => readConfig({ N: text }, { N: positiveInteger() });
  expect(read).toThrow(`N: must be a whole number above 0, not "${text}"`);
});
