"""Monte Carlo harness: does a speculative-decoding sampler draw from the law it promises?"""
