/** The key of a conversation: two owners may use the same id. */
export interface SessionKey {
  ownerId: string;
  conversationId: string;
}
