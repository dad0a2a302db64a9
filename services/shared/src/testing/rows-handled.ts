// For the tests of the conversation and voice services, which name the kit's files by their former paths.
export { type Columns, firstTexts } from "./statement-cost/filled-tables.ts";
export { countingHandled, PLANNED } from "./statement-cost/handled.ts";
