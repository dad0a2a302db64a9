/** The highest price of a million tokens, in US dollars: so that sums of costs stay exact. */
export const PRICE_MAX = 10_000;
