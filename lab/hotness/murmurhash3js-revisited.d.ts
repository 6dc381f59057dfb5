declare module 'murmurhash3js-revisited' {
  const murmurHash3: {
    /** if false, the input is not checked */
    inputValidation: boolean
    readonly x86: { hash32(bytes: ArrayLike<number>, seed?: number): number }
  }
  export default murmurHash3
}
