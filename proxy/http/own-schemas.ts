/** For schemas of ours: keywords that are none are still told of, and the meta-schema is not compiled anew at each start. */
export const ownSchemas: { readonly meta: false; readonly validateSchema: false } = {
  meta: false,
  validateSchema: false,
}
