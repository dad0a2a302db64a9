/** A conversation, which is its owner's: two owners may use one id. */
export interface SessionKey {
  ownerId: string;
  conversationId: string;
}
