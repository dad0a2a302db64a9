// For the tests of the conversation and voice services, which name the kit's files by their former paths.
export { countingReads } from "./statement-cost/reads.ts";
