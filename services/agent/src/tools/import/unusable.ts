/** Why a part of what is imported cannot be used, as the owner is told. */
export class Unusable extends Error {}
